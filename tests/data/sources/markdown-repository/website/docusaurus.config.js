module.exports = {
  url: 'https://e.org',
}
