/** Lays graphs out beside the page, so that it stays usable meanwhile. */
import { layOut } from './layout.ts';

self.addEventListener('message', ({ data }: MessageEvent<{ nodeCount: number; edges: number[] }>) => {
  self.postMessage(layOut(data.nodeCount, data.edges));
});
