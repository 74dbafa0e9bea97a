export default function (config) {}
