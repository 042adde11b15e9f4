import type { TargetSaving } from '#proto/webhook-targets.ts'
import { ServiceError } from '#proto/errors.ts'
import { requireTemplates } from '../../channels/formats/template.ts'
import { maxTargets, readHeaders } from '../../channels/webhook-target-list.ts'
import { requireAllowed, requireKey, type Saving, wrong } from './save-channel.ts'
import { targetEntry, TargetEntry } from './target-entry.ts'

const kind = 'webhook-target'

/** The entry of a webhook once this is saved. */
export const savedTarget = async ({ env, net, store }: Saving, saving: TargetSaving): Promise<TargetEntry> => {
  const { id, name, url, headers, templates = {} } = saving
  const others = (await store.all()).filter((entry) => entry.kind === kind)
  const names = others.flatMap((entry) => (entry.id === id ? [] : (TargetEntry.safeParse(entry.body).data?.name ?? [])))
  if (names.includes(name)) {
    const details = { parameter: 'name' }
    throw new ServiceError('conflict', `there is a webhook target with the name ${name} already`, { details })
  }
  if (others.every((entry) => entry.id !== id) && others.length >= maxTargets)
    throw new ServiceError('conflict', `there are ${maxTargets} webhook targets already; remove one first`)
  requireTemplates(templates)
  if (headers && !readHeaders(JSON.stringify(headers)))
    throw wrong('headers', 'must be at most 8 of Authorization and X-…, each of at most 1024 printable characters')
  if (url !== undefined && !/^https:/i.test(url)) throw wrong('url', 'must be an absolute URL with https')
  if (url !== undefined) await requireAllowed(net, 'url', url)
  const before = TargetEntry.safeParse(others.find((entry) => entry.id === id)?.body).data
  const entry = targetEntry(saving, before, requireKey(env))
  if (!entry) throw wrong('url', 'is required')
  return entry
}
