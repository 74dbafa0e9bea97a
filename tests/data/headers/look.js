// What is wrong with what lies over the page: sizes in pixels, places in the window, light or dark.
(over, dark) => {
  const faults = [];
  const { left, right, width } = over.getBoundingClientRect(), page = document.documentElement.clientWidth;
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const css = getComputedStyle(over), row = over.getRootNode().querySelector("form").getBoundingClientRect();
  if (left < 0 || right > innerWidth) faults.push(`from ${left} to ${right} of ${innerWidth}`);
  if (width < Math.min(30 * Math.max(rem, 16), 0.92 * page) - 1) faults.push(`${width} wide of ${page}`);
  if (parseFloat(css.fontSize) < 15) faults.push(`text of ${css.fontSize}`);
  if (row.height < 40) faults.push(`a box of ${row.height}`);
  const [red] = css.backgroundColor.match(/\d+/g), white = css.color.match(/\d+/g)[0];
  if (red < 128 !== dark || white > 128 !== dark) faults.push(`${css.color} on ${css.backgroundColor}`);
  const wide = over.scrollWidth - over.clientWidth;
  if (wide > 0) faults.push(`${wide} wider than itself`);
  return faults;
};
