/** Settings of a server that we start. Settings of the caller come last and win. */
export function serverSettings({
  socketDir,
  port,
  durable,
  tcp = false,
  settings,
}: {
  socketDir: string;
  port: number;
  durable: boolean;
  tcp?: boolean;
  settings: Readonly<Record<string, string>>;
}): Record<string, string> {
  return {
    // A list of folders: quoted, as a path may contain commas and blanks.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(port),
    listen_addresses: tcp ? '127.0.0.1' : '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off', // two lines every five minutes, in a file that nobody rotates
    // `synchronous_commit` stays on: with it off, a kill of the process loses commits, not only a power cut.
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
    ...settings,
  };
}
