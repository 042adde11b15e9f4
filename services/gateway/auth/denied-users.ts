import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { webhookSettings } from '../webhooks/signature.ts'
import { maxRenewalAgeMs } from './cookies.ts'

/** Deleted users and ended sessions of the identity provider. All gateways reject their credentials. */
export interface DeniedUsers {
  subject(subject: string): Promise<void>
  session(sid: string): Promise<void>
  /**
   * Returns whether a user or session is denied. Returns false without reading the store if no webhook of the identity
   * provider is configured.
   */
  has(person: { subject: string; sid?: string }): Promise<boolean>
}

const dayMs = 86_400_000
/** Retention of denied subjects: longer than any key or token is valid. The provider never reuses a subject. */
const subjectMs = 366 * dayMs
const sessionMs = maxRenewalAgeMs + dayMs

export const openDeniedUsers = (env: Environment, store: Store): DeniedUsers => {
  const deny = async (name: string, expiresInMs: number) => {
    await store.update(name, z.boolean(), () => ({ value: true, expiresInMs }))
  }
  const isDenied = async (name: string) => (await store.get(name, z.boolean())) === true
  return {
    subject: (subject) => deny(nameOf('subject', subject), subjectMs),
    session: (sid) => deny(nameOf('session', sid), sessionMs),
    has: async ({ subject, sid }) => {
      if (parseSettings(webhookSettings, env).IDP_WEBHOOK_SECRET === undefined) return false
      const names = [nameOf('subject', subject), ...(sid === undefined ? [] : [nameOf('session', sid)])]
      return (await Promise.all(names.map(isDenied))).includes(true)
    },
  }
}

const nameOf = (kind: 'subject' | 'session', text: string): string =>
  `gateway:denied:${kind}:${hash('sha256', text, 'base64url')}`
