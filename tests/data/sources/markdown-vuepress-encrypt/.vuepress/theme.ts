export default hopeTheme({
  encrypt: {
    config: { "/notes/": "kestrel" },
  },
});
