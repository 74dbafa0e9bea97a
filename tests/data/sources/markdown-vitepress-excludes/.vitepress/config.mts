export default {
  srcExclude: ['private/**', '**/TODO.md'],
}
