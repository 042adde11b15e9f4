import type { FleetEntry } from '#proto/http/fleet.ts'
import type { Column } from '#lib/table/cell.ts'

const column = (name: string, label: string, format: Column['format'], more: Partial<Column> = {}): Column => ({
  name,
  label,
  format,
  bar: false,
  hidden: false,
  ...more,
})

const states: Column['states'] = {
  up: { word: 'Up', stands: 'ok' },
  'down: unreachable': { word: 'Unreachable', stands: 'failed' },
  'down: too slow': { word: 'Too slow', stands: 'failed' },
  'down: refuses us': { word: 'Refuses us', stands: 'failed' },
  'down: no ClickHouse': { word: 'No ClickHouse', stands: 'failed' },
  down: { word: 'Down', stands: 'failed' },
  unknown: { word: 'Unknown', stands: 'off' },
}

/** The columns of the table of hosts. */
export const columns: readonly Column[] = [
  column('name', 'Host', 'link', { href: '/overview?host={id}' }),
  column('status', 'Status', 'badge', { doc: 'As the last probe found it.', states }),
  column('group', 'Group', 'text'),
  column('finding', 'Worst finding', 'link', { href: '/health?host={id}', doc: 'The worst that is wrong now.' }),
  column('cpu', 'CPU', 'percent', { bar: true, doc: 'Of all cores.' }),
  column('memory', 'Memory', 'percent', { bar: true }),
  column('disk', 'Disk', 'percent', { bar: true, doc: 'Of all local disks together.' }),
  column('queries', 'Queries', 'number', { bar: true, doc: 'Running now.' }),
  column('merges', 'Merges', 'number', { bar: true }),
  column('delay', 'Replica delay', 'duration-seconds', { doc: 'Of the replica that is most behind.' }),
  column('readonly', 'Read-only', 'number', { doc: 'Replicas that accept no writes.' }),
  column('version', 'Version', 'text'),
  column('uptime', 'Uptime', 'duration-seconds'),
  column('tags', 'Tags', 'list'),
]

const reasons = { unreachable: 'unreachable', timeout: 'too slow', refused: 'refuses us', garbage: 'no ClickHouse' }

/** A host as a row of that table. */
export const toRow = ({ id, name, group, tags, status, reason, version, uptime, load, worstFinding }: FleetEntry) => ({
  id,
  name,
  status: reason ? `${status}: ${reasons[reason]}` : status,
  group,
  finding: worstFinding && `${worstFinding.severity === 'critical' ? 'Critical' : 'Warning'}: ${worstFinding.title}`,
  ...load,
  version,
  uptime,
  tags: tags.length > 0 ? tags : null,
})
