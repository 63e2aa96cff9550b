/**
 * The web UI: built files, read once. Asset names contain a hash of their content, so browsers cache them permanently. The
 * page itself is requested each time, so an upgrade shows at the next load.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SCRIPT_POLICY, SITE_POLICY } from '../headers.ts';

interface SiteFile {
  readonly type: string;
  readonly plain: Buffer;
  /** Written by the build, for what gets smaller by it. */
  readonly br: Buffer | null;
  readonly gzip: Buffer | null;
}

export type Site = ReadonlyMap<string, SiteFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const A_YEAR = 'private, max-age=31536000, immutable';

/** Null when the package is not installed. */
export function siteFolder(): string | null {
  try {
    const about = createRequire(import.meta.url).resolve('@signalbox/ui/package.json');
    return join(dirname(about), 'dist', 'site');
  } catch {
    return null;
  }
}

/** All files by their path, such as `/index.html`. Empty when there is no build of the UI. */
export function readSite(folder: string | null): Site {
  if (folder === null) return new Map();
  const read = (path: string): Buffer | null => {
    try {
      return readFileSync(join(folder, path));
    } catch {
      return null;
    }
  };
  const files = new Map<string, SiteFile>();
  for (const path of listFiles(folder)) {
    const type = TYPES[extname(path)];
    const plain = type === undefined ? null : read(path);
    if (type === undefined || plain === null) continue;
    files.set(`/${path}`, { type, plain, br: read(`${path}.br`), gzip: read(`${path}.gz`) });
  }
  return files;
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
  } catch {
    return [];
  }
}

export function sendSitePage(request: FastifyRequest, reply: FastifyReply, file: SiteFile): FastifyReply {
  return sendFile(request, reply.header('content-security-policy', SITE_POLICY), file);
}

export function sendAsset(request: FastifyRequest, reply: FastifyReply, file: SiteFile): FastifyReply {
  if (file.type === TYPES['.js']) reply.header('content-security-policy', SCRIPT_POLICY);
  return sendFile(request, reply.header('cache-control', A_YEAR), file);
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { type, plain, br, gzip }: SiteFile): FastifyReply {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  reply.header('vary', 'accept-encoding').type(type);
  if (br !== null && /\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(br);
  if (gzip !== null && /\bgzip\b/.test(accepted)) return reply.header('content-encoding', 'gzip').send(gzip);
  return reply.send(plain);
}

/** Somebody with a browser, at an address that only the UI knows. The API answers for its own addresses. */
export function wantsSite({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !url.startsWith('/v1') && (headers.accept ?? '').includes('text/html');
}
