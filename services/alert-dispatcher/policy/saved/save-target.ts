import type { TargetSaving } from '#proto/webhook-targets.ts'
import { requireTemplates } from '../../channels/formats/template.ts'
import { readHeaders } from '../../channels/webhook-target-list.ts'
import { isOtherOrigin, requireAllowed, requireKey, type Saving, secretAgain, wrong } from './save-channel.ts'
import { openTarget, targetEntry, TargetEntry } from './target-entry.ts'

const kind = 'webhook-target'

/** The entry of a webhook once this is saved. */
export const savedTarget = async ({ env, net, store }: Saving, saving: TargetSaving): Promise<TargetEntry> => {
  const { id, url, headers, templates = {} } = saving
  requireTemplates(templates)
  if (headers && !readHeaders(JSON.stringify(headers)))
    throw wrong('headers', 'must be at most 8 of Authorization and X-…, each of at most 1024 printable characters')
  if (url !== undefined && !/^https:/i.test(url)) throw wrong('url', 'must be an absolute URL with https')
  if (url !== undefined) await requireAllowed(net, 'url', url)
  const entries = await store.all()
  const before = TargetEntry.safeParse(entries.find((entry) => entry.kind === kind && entry.id === id)?.body).data
  const key = requireKey(env)
  if (url !== undefined && headers === undefined && before?.sealed.headers !== undefined) {
    if (isOtherOrigin(openTarget(id, before, key)?.saved?.url, url)) throw secretAgain('headers')
  }
  const entry = targetEntry(saving, before, key)
  if (!entry) throw wrong('url', 'is required')
  return entry
}
