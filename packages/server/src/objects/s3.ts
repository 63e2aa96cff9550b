/**
 * Lists objects of S3, or of a store that speaks its protocol. The client is an optional package and takes a quarter of a second to load,
 * so only a server that watches a prefix loads it. Region and credentials come from where AWS tools look for them.
 */
import { ConfigError } from '../config.ts';
import type { ListedObject, ObjectStore } from './object-watch.ts';

/** A store that accepts and never answers must not stop the watch for good. */
const ANSWER_MS = 30_000;

export async function openS3(endpoint: string | null, answerMs = ANSWER_MS): Promise<ObjectStore> {
  const { S3Client, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
  const client = new S3Client(endpoint === null ? {} : { endpoint, forcePathStyle: true });
  const closed = new AbortController();
  return {
    list: async ({ bucket, prefix }, from) => {
      const { Contents = [], NextContinuationToken } = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          ...(from === null ? {} : { ContinuationToken: from }),
        }),
        { abortSignal: AbortSignal.any([closed.signal, AbortSignal.timeout(answerMs)]) },
      );
      const objects = Contents.flatMap(({ Key, LastModified, ETag, Size = 0 }): ListedObject[] =>
        // Consoles make folders of empty objects that end with a slash.
        Key === undefined || Key.endsWith('/')
          ? []
          : [{ key: Key, modifiedAt: LastModified?.getTime() ?? 0, etag: ETag ?? '', size: Size }],
      );
      return { objects, next: NextContinuationToken ?? null };
    },
    close: () => {
      closed.abort();
      client.destroy();
    },
  };
}

/** Without loading it. Throws when it is not installed, with what to do. */
export function requireS3(): void {
  try {
    import.meta.resolve('@aws-sdk/client-s3');
  } catch {
    throw new ConfigError(
      'SIGNALBOX_WATCH_OBJECTS needs the package @aws-sdk/client-s3, which is not installed: run npm install @aws-sdk/client-s3@3.1164.0 beside signalbox.',
    );
  }
}
