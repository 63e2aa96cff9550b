/** The operations on assets, expectations and watched folders. */
import {
  assetPageSchema,
  assetViewSchema,
  expectationPageSchema,
  listAssetsSchema,
  listExpectationsSchema,
  watchedFolderPageSchema,
} from '@signalbox/protocol';
import { z } from 'zod';
import { OPERATORS, type Operation, READERS } from './operation.ts';

const ofAsset = { asset: z.string().describe('Name of the asset.') };

export const assetOperations: readonly Operation[] = [
  {
    id: 'listExpectations',
    method: 'GET',
    path: '/v1/expectations',
    group: 'events',
    summary: 'Lists the events that dags expect, by when, and when each came last.',
    action: 'read events',
    roles: READERS,
    query: listExpectationsSchema,
    status: 200,
    answer: expectationPageSchema,
  },
  {
    id: 'listFolders',
    method: 'GET',
    path: '/v1/folders',
    group: 'events',
    summary: 'Lists the folders that the server that answers watches: new files in them are events.',
    action: 'see watched folders',
    roles: READERS,
    installation: true,
    status: 200,
    answer: watchedFolderPageSchema,
  },
  {
    id: 'listAssets',
    method: 'GET',
    path: '/v1/assets',
    group: 'assets',
    summary: 'Lists assets: when each was produced, by which run, and which dags run when it is fresh.',
    action: 'read assets',
    roles: READERS,
    query: listAssetsSchema,
    status: 200,
    answer: assetPageSchema,
  },
  {
    id: 'getAsset',
    method: 'GET',
    path: '/v1/assets/:asset',
    group: 'assets',
    summary: 'Gets an asset.',
    action: 'read assets',
    roles: READERS,
    params: ofAsset,
    status: 200,
    answer: assetViewSchema,
    errors: ['ASSET_NOT_FOUND'],
  },
  {
    id: 'materializeAsset',
    method: 'POST',
    path: '/v1/assets/:asset/materialize',
    group: 'assets',
    summary: 'Says that an asset is fresh, as if a task had produced it. Dags that wait for it run.',
    action: 'materialize assets',
    roles: OPERATORS,
    params: ofAsset,
    status: 200,
    answer: assetViewSchema,
  },
];
