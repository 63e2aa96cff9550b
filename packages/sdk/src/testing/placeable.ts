/** In a test there is one worker, and it has room for everything: what tasks ask of workers is left out, but for gangs. */
import type { SendAssignment } from '@signalbox/engine';
import type { DagSpecShape, TaskSpecShape } from '@signalbox/protocol';
import type { GangMember } from '../handler.ts';

export function placeable(spec: DagSpecShape): DagSpecShape {
  if (spec.tasks.every(({ placement }) => placement === undefined)) return spec;
  return { ...spec, tasks: spec.tasks.map(onOneWorker) };
}

function onOneWorker({ placement, ...task }: TaskSpecShape): TaskSpecShape {
  const gang = placement?.gang;
  return gang === undefined ? task : { ...task, placement: { gang: { size: gang.size, share: true } } };
}

export function gangOf({ booking }: SendAssignment): GangMember | null {
  const gang = booking?.gang;
  if (gang === undefined) return null;
  const { rank, hosts } = gang;
  return { rank, size: hosts.length, hosts: hosts.map(() => 'localhost') };
}
