/** `POST /v1/schedules/import`: schedules of any dags, one per line. To send them again does no harm: those that are there stay as they are. */
import { importedScheduleSchema, parseOr, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { importLines, type Line, type Refused, takeLines } from './import-lines.ts';
import type { RestParts } from './rest-parts.ts';

type Item = ReturnType<(typeof importedScheduleSchema)['parse']>;
type Named = Omit<Item, 'dag'>;
export type CreateOfDag = (request: FastifyRequest, dag: string, schedules: readonly Named[]) => Promise<void>;

export function importSchedulesRoute(app: FastifyInstance, parts: RestParts, createOfDag: CreateOfDag): void {
  app.register(async (room) => {
    takeLines(room);
    room.post('/v1/schedules/import', (request) =>
      importLines<Item>(request, {
        parse: (value) => parseOr(importedScheduleSchema, value, 'BAD_REQUEST'),
        create: (lines) => createGroup(request, lines, createOfDag),
        leftMs: () => parts.leftMs(request),
      }),
    );
  });
}

/** Those of one dag are created together or not at all. */
async function createGroup(
  request: FastifyRequest,
  lines: readonly Line<Item>[],
  createOfDag: CreateOfDag,
): Promise<Refused<Item>[]> {
  const byDag = new Map<string, Line<Item>[]>();
  for (const line of lines) {
    const ofDag = byDag.get(line.item.dag);
    if (ofDag === undefined) byDag.set(line.item.dag, [line]);
    else ofDag.push(line);
  }
  const refused = await Promise.all(
    [...byDag].map(async ([dag, ofDag]): Promise<Refused<Item>[]> => {
      try {
        await createOfDag(
          request,
          dag,
          ofDag.map(({ item }) => item),
        );
        return [];
      } catch (error) {
        if (error instanceof SignalboxError) return [{ lines: ofDag, error }];
        throw error;
      }
    }),
  );
  return refused.flat();
}
