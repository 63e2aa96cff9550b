/** The maps that contain a task, as its handler sees them. */
import type { MapPlace } from '@signalbox/protocol/grpc';

export interface MapItem {
  readonly group: string;
  readonly index: number;
  readonly item: unknown;
}

export const readMap = (places: readonly MapPlace[]): readonly MapItem[] =>
  places.map(({ group, index, item }) => ({ group, index, item: JSON.parse(item) as unknown }));
