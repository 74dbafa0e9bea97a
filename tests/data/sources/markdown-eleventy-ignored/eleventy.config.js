export default function (config) {
  config.ignores.add("src/secret/**");
}
