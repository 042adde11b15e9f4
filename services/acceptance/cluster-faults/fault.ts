import type { Severity } from '#proto/rule-definition.ts'
import type { FaultCluster, ServerName } from './cluster.ts'

/** A fault that is produced on the cluster, and what its rule must report. */
export interface Fault {
  /** The id of the rule. */
  rule: string
  /** The server on which the rule must fire. */
  host: ServerName
  /** Further servers on which the rule may fire, because the fault affects them too. Default: none. */
  mayAffect?: readonly ServerName[]
  severity: Severity
  /** The range that contains the value of the rule. */
  value: readonly [min: number, max: number]
  /** Thresholds instead of those of the rule, for conditions that take hours or a full disk. */
  thresholds?: { warning: number; critical?: number }
  /** Whether the fault affects other rules or servers so much that it is produced alone. */
  alone?: true
  /** Time from the fault until the server reports it, in milliseconds. */
  visibleAfterMs?: number
  /** Creates objects that the fault needs. Runs before the first sweep of the wave. */
  prepare?(cluster: FaultCluster): Promise<void>
  produce(cluster: FaultCluster): Promise<void>
  /** Ends the fault. For conditions within a time window, it deletes the rows that would leave the window later. */
  recover(cluster: FaultCluster): Promise<void>
  /**
   * Removes what `prepare` has created, except databases whose names begin with `fault_`, which the run drops before.
   * Runs after the condition has recovered.
   */
  cleanUp?(cluster: FaultCluster): Promise<void>
  /** Why the rule keeps firing after the fault, such as `reported for an hour`. The recovery is then not checked. */
  keepsFiring?: string
}

/**
 * Rules whose condition no server of the cluster can produce, with the reason. Recorded rows prove them: the examples in
 * their definitions, which `engine-rules.test.ts` evaluates.
 */
export type RecordedRules = Readonly<Record<string, string>>
