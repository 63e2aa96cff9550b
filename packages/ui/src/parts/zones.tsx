export const viewerZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** What a field with `list="zones"` offers. */
export function Zones() {
  const zones = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
  return (
    <datalist id="zones">
      {['UTC', ...zones].map((zone) => (
        <option key={zone} value={zone} />
      ))}
    </datalist>
  );
}
