import type { RepldbMirror, RepldbStatus } from '#proto/repldb.ts'

/** Troubleshooting steps by the reason why the replication service is unavailable. */
export const statusAdvice: Readonly<
  Record<Exclude<RepldbStatus['status'], 'connected'>, { heading: string; steps: readonly string[] }>
> = {
  auth: {
    heading: 'Wrong password',
    steps: [
      'Compare REPLDB_PASSWORD with the password of the replication service.',
      'If it comes from a file, correct the file; otherwise restart this installation with the correct value.',
    ],
  },
  unreachable: {
    heading: 'Replication service unreachable',
    steps: [
      'Check that it is running and reachable from this installation over the network.',
      'Check REPLDB_API_URL. It ends with /api for the web server of the service, and without it for the API server.',
    ],
  },
  'not-configured': {
    heading: 'No replication service is configured',
    steps: [
      'Set REPLDB_API_URL. It ends with /api for the web server of the service, and without it for the API server.',
      'Set REPLDB_PASSWORD if it requires a password.',
    ],
  },
}

/** Severity of each mirror state. A failure needs action, whereas a pause is intentional. */
export const mirrorTones: Readonly<Record<RepldbMirror['state'], 'bad' | 'warn' | 'good' | 'quiet'>> = {
  failed: 'bad',
  terminated: 'warn',
  terminating: 'warn',
  paused: 'warn',
  pausing: 'warn',
  unknown: 'warn',
  resync: 'quiet',
  modifying: 'quiet',
  setup: 'quiet',
  snapshot: 'quiet',
  running: 'good',
  completed: 'good',
}

/** Returns the label of a mirror state. */
export const formatMirrorState = (state: RepldbMirror['state']): string =>
  state === 'snapshot'
    ? 'Initial snapshot'
    : state === 'resync'
      ? 'Resyncing'
      : `${state.charAt(0).toUpperCase()}${state.slice(1)}`
