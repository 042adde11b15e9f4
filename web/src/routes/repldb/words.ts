import type { RepldbMirror, RepldbStatus } from '#proto/repldb.ts'

/** What to do where the replication service does not answer. */
export const statusAdvice: Readonly<
  Record<Exclude<RepldbStatus['status'], 'connected'>, { heading: string; steps: readonly string[] }>
> = {
  auth: {
    heading: 'Wrong password',
    steps: [
      'Compare REPLDB_PASSWORD with the password of the replication service.',
      'Where it comes from a file, correct the file; else start this installation again with the right value.',
    ],
  },
  unreachable: {
    heading: 'No answer',
    steps: [
      'See whether it runs, and whether this installation may reach it over the network.',
      'Compare REPLDB_API_URL with its address: with /api at its end for its web, without for the API itself.',
    ],
  },
  'not-configured': {
    heading: 'Nothing is watched here',
    steps: [
      'Set REPLDB_API_URL to its address: with /api at its end for its web, without for the API itself.',
      'Set REPLDB_PASSWORD where it asks for one.',
    ],
  },
}

/** How a mirror stands, as bad as it is: failed needs somebody, a pause was somebody's wish. */
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

/** A state as people say it. */
export const stateWord = (state: RepldbMirror['state']): string =>
  state === 'snapshot'
    ? 'First copy'
    : state === 'resync'
      ? 'Copied anew'
      : `${state.charAt(0).toUpperCase()}${state.slice(1)}`
