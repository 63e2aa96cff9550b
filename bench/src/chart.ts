/** Line charts as small SVG files, for the docs: no script, readable on light and dark pages. */

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  readonly title: string;
  readonly xUnit: string;
  readonly yUnit: string;
  readonly series: readonly Series[];
}

const [WIDTH, HEIGHT] = [640, 240];
const EDGE = { top: 40, right: 16, bottom: 34, left: 62 };
const COLOURS = ['#2563eb', '#d97706', '#059669', '#dc2626'];
const TICKS = 4;

export function chartOf({ title, xUnit, yUnit, series }: Chart): string {
  const all = series.flatMap(({ points }) => points);
  const mostX = Math.max(1e-9, ...all.map(([x]) => x));
  const mostY = niceAbove(Math.max(1e-9, ...all.map(([, y]) => y)));
  const x = (value: number) => EDGE.left + (value / mostX) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value: number) => HEIGHT - EDGE.bottom - (value / mostY) * (HEIGHT - EDGE.top - EDGE.bottom);
  const steps = Array.from({ length: TICKS + 1 }, (_, i) => i / TICKS);
  const rows = steps.map((part) => {
    const at = y(part * mostY).toFixed(1);
    const line = `<path d="M${EDGE.left} ${at}H${WIDTH - EDGE.right}" stroke="#9ca3af" stroke-opacity=".35"/>`;
    return `${line}<text x="${EDGE.left - 6}" y="${at}" dy=".32em" text-anchor="end">${short(part * mostY)}</text>`;
  });
  const columns = steps.map(
    (part) =>
      `<text x="${x(part * mostX).toFixed(1)}" y="${HEIGHT - EDGE.bottom + 16}" text-anchor="middle">${short(part * mostX)}</text>`,
  );
  const lines = series.map(({ points }, i) => {
    const path = points
      .map(([px, py], at) => `${at === 0 ? 'M' : 'L'}${x(px).toFixed(1)} ${y(py).toFixed(1)}`)
      .join('');
    return `<path d="${path}" fill="none" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="1.5"/>`;
  });
  const legend = series.map(
    ({ name }, i) =>
      `<text x="${WIDTH - EDGE.right - (series.length - 1 - i) * 110}" y="18" text-anchor="end" fill="${COLOURS[i % COLOURS.length]}">${escaped(name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="11" fill="#6b7280" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<text x="${EDGE.left}" y="18" font-size="13" font-weight="600">${escaped(title)} (${escaped(yUnit)})</text>`,
    ...rows,
    ...columns,
    `<text x="${WIDTH - EDGE.right}" y="${HEIGHT - 4}" text-anchor="end">${escaped(xUnit)}</text>`,
    ...lines,
    ...legend,
    '</svg>\n',
  ].join('\n');
}

/** The next of 1, 2, 5, 10 … */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

function short(value: number): string {
  if (value >= 10_000) return `${Number((value / 1_000).toFixed(1))}k`;
  return String(Number(value.toPrecision(3)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
