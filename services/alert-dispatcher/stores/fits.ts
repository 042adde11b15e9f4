import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { maxTargets } from '../channels/webhook-target-list.ts'
import { mostOfAKind, type PolicyEntry, type PolicyKind } from './stores.ts'

/** Kinds of which there are fewer. */
const mostOf: Readonly<Partial<Record<PolicyKind, number>>> = { 'webhook-target': maxTargets }

/** Throws `conflict` for an entry that does not go with the others of its kind: they are too many, or one has the name that routes know it by. */
export const requireFits = (kind: PolicyKind, body: unknown, others: readonly Pick<PolicyEntry, 'body'>[]): void => {
  const most = mostOf[kind] ?? mostOfAKind
  if (others.length >= most)
    throw new ServiceError('conflict', `there are ${most} entries of the kind ${kind} already; remove one first`)
  const name = kind === 'webhook-target' ? nameOf(body) : undefined
  if (name === undefined || others.every((other) => nameOf(other.body) !== name)) return
  const details = { parameter: 'name' }
  throw new ServiceError('conflict', `there is a webhook target with the name ${name} already`, { details })
}

const Named = z.object({ name: z.string() })

const nameOf = (body: unknown): string | undefined => Named.safeParse(body).data?.name
