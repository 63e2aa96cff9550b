import { count } from '../../parts/format.ts';

/** `1 234.50`. */
export function money(value: number): string {
  if (value !== 0 && value < 0.01) return '< 0.01';
  const [whole = '0', cents = '00'] = value.toFixed(2).split('.');
  return `${count(Number(whole))}.${cents}`;
}

/** Hours, as precise as they are read. */
export function hours(value: number): string {
  if (value === 0) return '0';
  if (value < 0.01) return '< 0.01';
  return value < 100 ? value.toFixed(2) : count(Math.round(value));
}
