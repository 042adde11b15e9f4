import type { Call } from '#proto/call.ts'
import type { Net } from '#shared/net/net.ts'
import type { Statement } from '../../clickhouse/statement.ts'
import type { MonitoredHost } from '../../hosts/host-list.ts'
import type { Contact } from '../contact.ts'
import type { ReplicationService } from '../../repldb/client.ts'
import type { Earlier } from '../earlier.ts'
import type { Measured } from '../measured.ts'

/** What an evaluator may go by. */
export interface Asked {
  host: MonitoredHost
  contact: Contact
  /** Undefined when it cannot be read now. */
  earlier: Earlier | undefined
  /** Ids of rules whose statement the user of this host may not run. */
  denied: readonly string[]
  ask(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
  net: Pick<Net, 'trusted'>
  replicationService: ReplicationService
  /** What it is asked with. */
  call: Call
  signal: AbortSignal
  /** By our own clock; hosts have theirs. */
  nowMs: number
}

/** Measures what no statement of a rule can, and says what the next sweep has to know. */
export type Evaluator = (asked: Asked) => Promise<{ measured: Measured; keep?: Partial<Earlier> }>
