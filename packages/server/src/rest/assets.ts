/** Assets: listed, shown, and declared fresh by hand. */
import type { ProduceAsset } from '@signalbox/engine';
import {
  type AssetPage,
  type AssetView,
  assetNameSchema,
  listAssetsSchema,
  parseOr,
  SignalboxError,
} from '@signalbox/protocol';
import type { AssetRow } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { toIso } from '../iso-instants.ts';
import { firstShard } from './dag-lookup.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

type AssetRequest = FastifyRequest<{ Params: { asset: string } }>;

export function assetRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main } = parts;

  app.get('/v1/assets', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, q } = parseOr(listAssetsSchema, request.query, 'BAD_REQUEST');
    const list = { after: cursor ?? '', limit, part: q === '' ? undefined : q };
    const found = await fromDatabase(() => queries.listAssets(tenantId, list), request.log);
    const next = found.length < limit ? null : (found.at(-1)?.name ?? null);
    return { items: found.map(viewOf), cursor: next } satisfies AssetPage;
  });

  app.get('/v1/assets/:asset', (request: AssetRequest) => show(request, nameOf(request)));

  app.post('/v1/assets/:asset/materialize', async (request: AssetRequest) => {
    const name = nameOf(request);
    const { tenantId, actor } = callerOf(request);
    return once<AssetView>(request, parts, {
      target: name,
      make: async () => {
        // By hand it has no run, and so no shard of its own.
        const shard = firstShard(tenantId, name);
        const command: ProduceAsset = { kind: 'ProduceAsset', shard, tenantId, name, actor };
        answerOf(await main.command(command, parts.leftMs(request)), 'done', {});
        return show(request, name);
      },
    });
  });

  async function show(request: FastifyRequest, name: string): Promise<AssetView> {
    const { tenantId } = callerOf(request);
    const [found] = await fromDatabase(() => queries.listAssets(tenantId, { name }), request.log);
    if (found === undefined) throw new SignalboxError('ASSET_NOT_FOUND', { asset: name });
    return viewOf(found);
  }
}

const inPath = z.object({ asset: assetNameSchema });

function nameOf({ params }: AssetRequest): string {
  return parseOr(inPath, params, 'BAD_REQUEST').asset;
}

function viewOf({ name, at, run, dag, task, actor, count, consumers }: AssetRow): AssetView {
  return {
    name,
    producedAt: at === null ? null : toIso(at),
    run,
    dag,
    task,
    producedBy: actor,
    count,
    consumers: consumers.flatMap(({ dag: consumer, triggers }) =>
      triggers.flatMap(({ name: trigger, assets }) =>
        assets === undefined ? [] : [{ dag: consumer, trigger, mode: assets.mode, assets: [...assets.names] }],
      ),
    ),
  };
}
