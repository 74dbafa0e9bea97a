module.exports = {
  permalink: false,
};
