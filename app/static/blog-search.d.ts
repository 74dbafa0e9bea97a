// Types of <blog-search>, for pages in TypeScript; docs/embedding.md describes it.

/** A post in an answer of /search; the page /docs of the service lists all fields. */
interface BlogSearchHit {
  oid: string;
  title: string;
  url: string | null;
  /** Where the best excerpt is; absent if the title has all words. */
  excerpt_url?: string;
  pub_date: string | null;
  categories?: string[];
  language?: string;
}

interface BlogSearchElement extends HTMLElement {
  /** Opens the dialog, or moves the focus to the box. */
  open(): void;
  close(): void;
}

interface BlogSearchSelect {
  q: string;
  url: string;
  /** 1 for the first hit. */
  position: number;
  hit: BlogSearchHit;
}

interface BlogSearchEvents {
  "blogsearch:search": CustomEvent<{ q: string; count: number }>;
  "blogsearch:select": CustomEvent<BlogSearchSelect>;
  "blogsearch:open": CustomEvent<null>;
  "blogsearch:close": CustomEvent<null>;
  /** Without `status` there was no response. */
  "blogsearch:error": CustomEvent<{ q: string; status?: number; message?: string }>;
}

interface HTMLElementTagNameMap {
  "blog-search": BlogSearchElement;
}

interface HTMLElementEventMap extends BlogSearchEvents {}

interface DocumentEventMap extends BlogSearchEvents {}
