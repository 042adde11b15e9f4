/** Fields with epoch milliseconds, and the fields beside them that contain the same time as an RFC 3339 date-time. */
export const dateTimeFields: Readonly<Record<string, string>> = {
  analyzedMs: 'analyzedAt',
  atMs: 'at',
  backupAtMs: 'backupAt',
  certificateExpiresAtMs: 'certificateExpiresAt',
  changedMs: 'changedAt',
  checkedAtMs: 'checkedAt',
  createdAtMs: 'createdAt',
  endedAtMs: 'endedAt',
  endedMs: 'endedAt',
  endsAt: 'endsTime',
  evaluatedAtMs: 'evaluatedAt',
  expiresAtMs: 'expiresAt',
  firstSeenMs: 'firstSeenAt',
  foundAtMs: 'foundAt',
  fromMs: 'from',
  lastMessageMs: 'lastMessageAt',
  lastNotifiedAtMs: 'lastNotifiedAt',
  lastReadMs: 'lastReadAt',
  lastReportedMs: 'lastReportedAt',
  lastSampleMs: 'lastSampleAt',
  lastSeenMs: 'lastSeenAt',
  lastSyncAtMs: 'lastSyncAt',
  lastWriteMs: 'lastWriteAt',
  modifiedMs: 'modifiedAt',
  occurredAt: 'occurredTime',
  receivedAt: 'receivedTime',
  savedAtMs: 'savedAt',
  sinceMs: 'since',
  startedAtMs: 'startedAt',
  startedMs: 'startedAt',
  sweptAtMs: 'sweptAt',
  timeMs: 'time',
  toMs: 'to',
  untilMs: 'until',
  updatedAtMs: 'updatedAt',
  vacuumedMs: 'vacuumedAt',
  worstSinceMs: 'worstSince',
  writtenAtMs: 'writtenAt',
}

const pattern = new RegExp(`"(${Object.keys(dateTimeFields).join('|')})":(-?[\\d.]+(?:e[+-]?\\d+)?|null)(?=[,}])`, 'g')
/** Fields that are durations in a histogram. Durations are below this time of the year 2001. */
const ambiguous = new Set(['fromMs', 'toMs'])
const minAmbiguousMs = 1_000_000_000_000
/** The last millisecond of the year 9999. Date-times have four digits for the year. */
const maxMs = 253_402_300_799_999
const clampMs = (ms: number): number => Math.min(maxMs, Math.max(0, ms))

/**
 * Adds a date-time beside each field with epoch milliseconds. The JSON is not parsed: inside a string, quotes are
 * escaped, so that no text looks like a field.
 */
export const addDateTimes = (json: string): string =>
  json.replaceAll(pattern, (field, name: string, value: string, offset: number) => {
    const added = `,"${dateTimeFields[name]}":`
    // Examples of the OpenAPI document contain the date-time already.
    if (json.startsWith(added, offset + field.length)) return field
    if (ambiguous.has(name) && !(Number(value) >= minAmbiguousMs)) return field
    const time = value === 'null' ? value : `"${new Date(clampMs(Number(value))).toISOString()}"`
    return `${field}${added}${time}`
  })
