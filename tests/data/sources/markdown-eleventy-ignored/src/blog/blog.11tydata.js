export default {
  tags: ["post"],
  permalink: (data) => `/blog/${data.page.fileSlug}/`,
  searchCollectionWeight: 0.3,
};
