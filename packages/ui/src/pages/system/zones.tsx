/** The time zone data that all servers decide by, and the action that raises it. */
import type { ZonesRaised, ZonesView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { ChangeButton } from '../../actions/change.tsx';
import { post } from '../../api/client.ts';
import { zonesQuery } from '../../api/queries.ts';
import { useIsInstallation } from '../../api/session.tsx';
import { Card, Loaded } from '../../parts/page.tsx';
import { useToasts } from '../../parts/toasts.tsx';

export function Zones() {
  const zones = useQuery(zonesQuery());
  const isInstallation = useIsInstallation();
  return (
    <Card title="Time zones" side={isInstallation && <Upgrade zones={zones.data} />}>
      <Loaded query={zones}>
        {({ version, nodes, zones: used }) => (
          <div className="stack tight">
            <div className="facts">
              <span title="Edition of the IANA database">
                All schedules are decided by edition <b>{version}</b>
              </span>
              <span>
                Servers have{' '}
                <b>{[...new Set(nodes.map(({ version: own }) => own ?? 'an unknown edition'))].sort().join(', ')}</b>
              </span>
            </div>
            {isInstallation && (
              <p className="soft small">
                {used.length === 0
                  ? 'No schedule has used a zone yet.'
                  : `In use: ${used.map(({ zone, madeFrom }) => (madeFrom === version ? written(zone) : `${written(zone)} (${madeFrom})`)).join(', ')}`}
              </p>
            )}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

/** Servers keep names in small letters. */
const NAMES = new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]));
const written = (zone: string): string => NAMES.get(zone) ?? (zone === 'utc' ? 'UTC' : zone);

const newest = ({ nodes }: ZonesView): string =>
  nodes.reduce((known, { version }) => ((version ?? '') > known ? (version ?? '') : known), '');

function Upgrade({ zones }: { readonly zones: ZonesView | undefined }) {
  const { tell } = useToasts();
  if (zones === undefined) return null;
  const isNewest = newest(zones) <= zones.version;
  return (
    <ChangeButton
      needs="admin"
      disabled={isNewest}
      title={isNewest ? 'No server has newer data. It comes with an update of Node.js.' : undefined}
      run={() => post<ZonesRaised>('/v1/zones/upgrade')}
      touches={['zones', 'schedules', 'schedule-pages', 'firings', 'dag', 'dag-chunk']}
      onDone={(answer) => {
        const { changed, version, previous } = answer as ZonesRaised;
        tell(
          changed
            ? `Schedules are decided by ${version} now; before by ${previous}.`
            : `The server that answered has no newer data than ${version}. Another server may have.`,
        );
      }}
    >
      {isNewest ? 'Upgrade' : `Upgrade to ${newest(zones)}`}
    </ChangeButton>
  );
}
