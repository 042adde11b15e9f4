import { setTimeout as wait } from 'node:timers/promises'
import { watchUser } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'

const certificateDays = 3
const daySeconds = 86_400
/** The product caches the privileges of its user for a minute. */
const cachedPrivilegesMs = 61_000

/** Faults for the rules in `charts/security`. */
export const securityFaults: readonly Fault[] = [
  {
    rule: 'login-failures',
    host: 's1r2',
    severity: 'warning',
    value: [6, 6],
    async produce({ servers: { s1r2 } }) {
      for (const user of ['default', 'fault_unknown_user'])
        for (let run = 0; run < 3; run++) await s1r2.fail('SELECT 1', { user, password: 'wrong' })
    },
    recover: async () => {},
  },
  {
    rule: 'access-denied',
    host: 's2r1',
    severity: 'warning',
    value: [5, 5],
    async prepare({ servers: { s2r1 } }) {
      await s2r1.run(
        'CREATE DATABASE fault_access_denied',
        'CREATE TABLE fault_access_denied.events (id UInt64) ENGINE = MergeTree ORDER BY id',
        'CREATE USER fault_access_denied IDENTIFIED WITH no_password',
      )
    },
    async produce({ servers: { s2r1 } }) {
      for (let run = 0; run < 5; run++)
        await s2r1.fail('SELECT id FROM fault_access_denied.events', { user: 'fault_access_denied', password: '' })
    },
    recover: async () => {},
    async cleanUp({ servers: { s2r1 } }) {
      await s2r1.run('DROP USER fault_access_denied')
    },
  },
  {
    rule: 'tls-expiry',
    host: 's2r1',
    severity: 'critical',
    value: [certificateDays * daySeconds - 600, certificateDays * daySeconds],
    async produce(cluster) {
      await cluster.issueCertificate(certificateDays)
    },
    async recover(cluster) {
      await cluster.issueCertificate(90)
    },
  },
  {
    rule: 'auth-or-grant-denied',
    host: 's1r1',
    severity: 'warning',
    value: [1, 1],
    // No other rule has data while the host rejects the user.
    alone: true,
    async produce({ servers: { s1r1 } }) {
      await s1r1.configure(
        'users.d/rotated_password.xml',
        formatWatchUser('<password replace="replace">rotated</password>'),
      )
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.configure('users.d/rotated_password.xml', undefined)
    },
  },
  {
    rule: 'insufficient-grants',
    host: 's2r2',
    severity: 'warning',
    value: [2, 2],
    // Rules that need the revoked privileges have no data meanwhile.
    alone: true,
    visibleAfterMs: cachedPrivilegesMs,
    async produce({ servers: { s2r2 } }) {
      const grants = ['SELECT ON system.*', 'SHOW DATABASES, SHOW TABLES ON *.*', 'REMOTE ON *.*']
      await s2r2.configure(
        'users.d/revoked_grants.xml',
        formatWatchUser(
          `<grants replace="replace">${grants.map((grant) => `<query>GRANT ${grant}</query>`).join('')}</grants>`,
        ),
      )
    },
    async recover({ servers: { s2r2 } }) {
      await s2r2.configure('users.d/revoked_grants.xml', undefined)
      await wait(cachedPrivilegesMs)
    },
  },
]

export const securityRecorded: RecordedRules = {}

/** Returns a configuration file that changes the user of the product. */
const formatWatchUser = (change: string): string =>
  `<clickhouse><users><${watchUser.user}>${change}</${watchUser.user}></users></clickhouse>`
