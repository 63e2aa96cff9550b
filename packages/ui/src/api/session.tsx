/** Who looks at the page, and what they may do. */
import type { SessionView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { get } from './client.ts';

const sessionQuery = {
  queryKey: ['session'],
  queryFn: () => get<SessionView>('/v1/session'),
  staleTime: Number.POSITIVE_INFINITY,
} as const;

export function useSession(): SessionView | undefined {
  return useQuery(sessionQuery).data;
}

/** Storage and the like are told only to the tenant that runs the installation. */
export function useIsInstallation(): boolean {
  return useSession()?.installation === true;
}

interface Rights {
  /** May start, stop and change runs. */
  readonly mayOperate: boolean;
  readonly isAdmin: boolean;
  /** May make and change tenants: an admin of the tenant that runs the installation. */
  readonly mayRunInstallation: boolean;
  /** Why not, for the tooltip of what is disabled. */
  readonly reason: string | undefined;
}

export function useRights(): Rights {
  const session = useSession();
  const role = session?.role;
  const mayOperate = role === 'admin' || role === 'operator';
  const reason =
    mayOperate || role === undefined ? undefined : `Your role is ${role}: it may look, but not change anything.`;
  const isAdmin = role === 'admin';
  return { mayOperate, isAdmin, mayRunInstallation: isAdmin && session?.installation === true, reason };
}
