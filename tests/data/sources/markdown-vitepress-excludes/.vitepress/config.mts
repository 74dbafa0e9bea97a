export default {
  srcExclude: ['private/**'],
}
