/** The gang that an attempt is a member of, as its handler sees it. */
import type { GangPlace } from '@signalbox/protocol';
import type { GangMember } from '@signalbox/sdk';

export function gangMember(gang: GangPlace | undefined): GangMember | null {
  return gang === undefined ? null : { rank: gang.rank, size: gang.hosts.length, hosts: gang.hosts };
}
