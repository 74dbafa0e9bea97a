export default hopeTheme({
  encrypt: { message: "Ask me." },
  blog: {
    tags: true,
  },
});
