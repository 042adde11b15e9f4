import type { Cluster } from './cluster.ts'
import type { Profile } from './release.ts'

/** What a scenario has measured. */
export interface Outcome {
  /** A sentence with the figures. */
  measured: string
  /** The bars that were missed. Empty if all were reached. */
  problems: readonly string[]
  /** Lines that explain the figures, such as the failed requests. */
  details?: readonly string[]
}

/** A test of the product on a cluster, while a profile is installed. */
export interface Scenario {
  name: string
  profile: Profile
  /** Whether the scenario needs the last release. */
  startsFromLastRelease?: true
  run(cluster: Cluster): Promise<Outcome>
}

/** Returns the sentence as a problem if its condition holds. */
export const problemIf = (condition: boolean, sentence: string): string[] => (condition ? [sentence] : [])
