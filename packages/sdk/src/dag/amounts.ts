/** Times and sizes as users write them. */

/** A span with its unit: `'30s'`, `'5m'`, `'1.5h'`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** Bytes, or a size as it is spoken: `'512MiB'`, `'4GiB'`. */
export type Size = number | `${number}${'KiB' | 'MiB' | 'GiB' | 'kB' | 'MB' | 'GB'}`;
