/** Folders whose new files are events. */
import { z } from 'zod';

export const watchedFolderSchema = z.object({
  name: z.string(),
  /** On the machine of the server that answers. */
  path: z.string(),
  /** Of the events of its files. */
  source: z.string(),
  /** When the server last looked into it; null: not yet. */
  lookedAt: z.iso.datetime().nullable(),
  /** Files that lay there then. */
  files: z.int(),
  /** The last file that this server sent as an event, and when; null: none since it started. */
  lastFile: z.string().nullable(),
  lastFileAt: z.iso.datetime().nullable(),
  /** Why the last look saw not all of it; null: nothing is wrong. */
  problem: z.string().nullable(),
});
export type WatchedFolderView = z.infer<typeof watchedFolderSchema>;

export const watchedFolderPageSchema = z.object({ items: z.array(watchedFolderSchema), cursor: z.null() });
export type WatchedFolderPage = z.infer<typeof watchedFolderPageSchema>;
