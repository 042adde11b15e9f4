import type { FleetHostView } from '#proto/http/fleet.ts'
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
  up: { word: 'Up', status: 'ok' },
  'down: unreachable': { word: 'Unreachable', status: 'failed' },
  'down: timed out': { word: 'Timed out', status: 'failed' },
  'down: access denied': { word: 'Access denied', status: 'failed' },
  'down: not ClickHouse': { word: 'Not ClickHouse', status: 'failed' },
  down: { word: 'Down', status: 'failed' },
  unknown: { word: 'Unknown', status: 'off' },
}

/** The columns of the host table. */
export const fleetColumns: readonly Column[] = [
  column('name', 'Host', 'link', { href: '/overview?host={id}' }),
  column('status', 'Status', 'badge', { doc: 'Result of the last probe.', states }),
  column('group', 'Group', 'text'),
  column('finding', 'Top alert', 'link', {
    href: '/health?host={id}',
    doc: 'The most severe firing condition.',
  }),
  column('cpu', 'CPU', 'percent', { bar: true, doc: 'Average of all cores.' }),
  column('memory', 'Memory', 'percent', { bar: true }),
  column('disk', 'Disk', 'percent', { bar: true, doc: 'All local disks combined.' }),
  column('queries', 'Queries', 'number', { bar: true, doc: 'Currently running queries.' }),
  column('merges', 'Merges', 'number', { bar: true }),
  column('delay', 'Replica delay', 'duration-seconds', { doc: 'Highest delay of any replica.' }),
  column('readonly', 'Read-only', 'number', { doc: 'Replicas in read-only mode.' }),
  column('version', 'Version', 'text'),
  column('uptime', 'Uptime', 'duration-seconds'),
  column('tags', 'Tags', 'list'),
]

const reasons = {
  unreachable: 'unreachable',
  timeout: 'timed out',
  refused: 'access denied',
  garbage: 'not ClickHouse',
}

/** Returns the table row of a host. */
export const toFleetRow = ({
  id,
  name,
  group,
  tags,
  status,
  reason,
  version,
  uptime,
  load,
  worstFinding,
}: FleetHostView) => ({
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
