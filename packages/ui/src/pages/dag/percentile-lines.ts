interface Place {
  readonly width: number;
  readonly height: number;
  /** The value at the top. */
  readonly most: number;
}

/** Lines through the middles of steps that follow one another; a step without a value ends a line, one alone is a short line. */
export function linesOf(values: readonly (number | null)[], { width, height, most }: Place): string[] {
  const step = width / Math.max(1, values.length);
  const lines: string[][] = [[]];
  values.forEach((value, at) => {
    if (value === null) lines.push([]);
    else lines.at(-1)?.push(`${round((at + 0.5) * step)},${round(height - (value / most) * (height - 2) - 1)}`);
  });
  return lines.flatMap((points) => {
    const [first] = points;
    if (first === undefined) return [];
    if (points.length > 1) return [points.join(' ')];
    const [x = '0', y = '0'] = first.split(',');
    return [`${round(Number(x) - step / 3)},${y} ${round(Number(x) + step / 3)},${y}`];
  });
}

const round = (value: number): number => Math.round(value * 10) / 10;
