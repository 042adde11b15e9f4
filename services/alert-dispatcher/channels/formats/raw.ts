import { truncateText } from '../../messages/text.ts'
import { renderBody } from '../../messages/message.ts'
import type { Notification } from '../../notification.ts'
import type { WebhookFormat } from './format.ts'

const maxText = 8_000
const maxGathered = 100

/** Generic JSON format with all fields; `version` increases when the meaning of a field changes. */
export const rawFormat: WebhookFormat = {
  compose: ({ message, write, key }) => {
    const { notification, headline, host, url, instance, metadata, origin, members } = message
    const { kind, episode, ruleId, source, severity, value, threshold, unit, sinceMs, atMs, reason } = notification
    const { title = headline, body = renderBody(message) } = write((text) => text)
    return {
      headers: { 'x-idempotency-key': key },
      body: {
        version: 1,
        // A group is not an alert itself: `conditions` contains each condition with its own deduplication key.
        event: members.length > 0 ? 'group' : kind,
        id: key,
        dedup_key: episode,
        sequence: notification.sequence,
        origin,
        instance,
        host,
        source,
        rule: ruleId,
        severity,
        value,
        threshold,
        unit,
        started_at: new Date(sinceMs).toISOString(),
        at: new Date(atMs).toISOString(),
        reason,
        offenders: notification.offenders,
        gathered: message.gathered.slice(0, maxGathered),
        ...(members.length > 0 && { conditions: members.map(buildCondition) }),
        title,
        text: truncateText(body, maxText),
        url,
        metadata,
      },
    }
  },
}

const buildCondition = (notification: Notification) => {
  const { kind, episode, sequence, hostKey, source, ruleId, title, severity, value, threshold, unit, sinceMs, atMs } =
    notification
  return {
    event: kind,
    dedup_key: episode,
    sequence,
    host_key: hostKey,
    source,
    rule: ruleId,
    title,
    severity,
    value,
    threshold,
    unit,
    started_at: new Date(sinceMs).toISOString(),
    at: new Date(atMs).toISOString(),
  }
}
