import { useMemo } from 'react';
import { useRights } from '../api/session.tsx';
import type { IconName } from './icons.tsx';

interface NavEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Heading before it. */
  readonly group?: string;
  /** After `g`. */
  readonly key: string;
  /** Only for those who run the installation. */
  readonly isForOperators?: boolean;
}

const NAV: readonly NavEntry[] = [
  { to: '/', label: 'Home', icon: 'home', key: 'h' },
  { to: '/dags', label: 'DAGs', icon: 'dags', key: 'd' },
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r' },
  { to: '/schedules', label: 'Schedules', icon: 'schedules', key: 'c' },
  { to: '/jobs', label: 'Jobs', icon: 'jobs', key: 'j' },
  { to: '/assets', label: 'Assets', icon: 'assets', key: 'a' },
  { to: '/sources', label: 'Event sources', icon: 'sources', key: 'o' },
  { to: '/backfills', label: 'Backfills', icon: 'backfills', key: 'f' },
  { to: '/dead-letters', label: 'Dead letters', icon: 'letters', group: 'Trouble', key: 'l' },
  { to: '/breakers', label: 'Breakers', icon: 'breakers', key: 'b' },
  { to: '/callbacks', label: 'Callbacks', icon: 'callbacks', key: 'k' },
  { to: '/workers', label: 'Workers', icon: 'workers', group: 'Fleet', key: 'w' },
  { to: '/queues', label: 'Queues', icon: 'queues', key: 'q' },
  { to: '/limits', label: 'Limits', icon: 'limits', key: 'm' },
  { to: '/costs', label: 'Costs', icon: 'costs', key: 'u' },
  { to: '/events', label: 'Events', icon: 'events', key: 'e' },
  { to: '/tenants', label: 'Tenants', icon: 'tenants', key: 't', isForOperators: true },
  { to: '/system', label: 'System', icon: 'system', key: 's' },
];

/** The pages that the viewer may see. */
export function useNav(): readonly NavEntry[] {
  const { mayRunInstallation } = useRights();
  return useMemo(
    () => NAV.filter(({ isForOperators }) => mayRunInstallation || isForOperators !== true),
    [mayRunInstallation],
  );
}
