export default {
  draft: true,
};
