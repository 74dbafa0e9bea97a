export default { eleventyExcludeFromCollections: true, permalink: "/search.json" };
