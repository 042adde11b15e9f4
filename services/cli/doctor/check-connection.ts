import { formatRightGrants } from '#proto/grants-script.ts'
import type { HostRight } from '#proto/managed-hosts.ts'
import type { HostCapabilities } from '../../query/clickhouse/capabilities.ts'
import { compareVersions } from '../../query/clickhouse/capabilities.ts'
import type { Finding } from './finding.ts'
import type { TlsState } from './tls.ts'

/** The oldest version whose statements the charts contain. */
const oldestVersion = '23.8'
const minCertificateDays = 21

/** Returns the finding about the encryption of the connection. */
export const checkTls = (tls: TlsState): Finding => {
  const facts = { check: 'tls', title: 'Encryption' }
  if (!tls.isEncrypted)
    return tls.isLocal
      ? { ...facts, status: 'ok', detail: 'not encrypted, on this machine', remedy: null }
      : {
          ...facts,
          status: 'warning',
          detail: 'not encrypted: password and results are readable on the network',
          remedy: 'use the HTTPS port of the server, by default 8443',
        }
  const { protocol, problem, isTrusted, expiresInDays } = tls
  if (!isTrusted)
    return {
      ...facts,
      status: 'critical',
      detail: `${protocol}, the certificate is not trusted: ${problem ?? 'unknown problem'}`,
      remedy: 'install a certificate of a trusted CA, or set NODE_EXTRA_CA_CERTS to your CA',
    }
  const detail = `${protocol}, the certificate is valid${expiresInDays === null ? '' : ` for ${expiresInDays} days`}`
  const isExpiring = expiresInDays !== null && expiresInDays < minCertificateDays
  return {
    ...facts,
    status: isExpiring ? 'warning' : 'ok',
    detail,
    remedy: isExpiring ? 'renew the certificate' : null,
  }
}

/** Returns the finding about the version of the server. */
export const checkVersion = (version: string): Finding => {
  const isSupported = compareVersions(version, oldestVersion) >= 0
  return {
    check: 'version',
    title: 'Version',
    status: isSupported ? 'ok' : 'warning',
    detail: `ClickHouse ${version}`,
    remedy: isSupported ? null : `upgrade to ${oldestVersion} or newer; many pages have no data on older versions`,
  }
}

const rightTitles: Readonly<Record<HostRight, string>> = {
  system: 'Read the system tables',
  objects: 'See all databases, tables and columns',
  access: 'See users and roles',
  remote: 'Read the system tables of all replicas',
  findings: 'Store insights on the host',
  'kill-query': 'Kill queries',
}

/** Rights of features that are off by default. */
const optionalRights: ReadonlySet<HostRight> = new Set(['findings', 'kill-query'])

interface RightState {
  right: HostRight
  isGranted: boolean | null
}

interface UserOptions {
  user: string
  database: string
}

/** Returns a finding for each right, with the grant that is missing. */
export const checkRights = (
  rights: readonly RightState[],
  { version, readonly }: Pick<HostCapabilities, 'version' | 'readonly'>,
  { user, database }: UserOptions,
): Finding[] =>
  rights.map(({ right, isGranted }) => {
    const facts = { check: `grant ${right}`, title: rightTitles[right] }
    const grants = formatRightGrants(right, { user, version, database }).join(' ')
    if (isGranted === true) return { ...facts, status: 'ok', detail: 'granted', remedy: null }
    if (isGranted === null)
      return { ...facts, status: 'no data', detail: 'the server does not report this grant', remedy: grants }
    if (optionalRights.has(right)) {
      const detail = readonly > 0 ? `optional; not possible with readonly = ${readonly}` : 'optional; not granted'
      return { ...facts, status: 'ok', detail, remedy: readonly > 0 ? null : grants }
    }
    return { ...facts, status: right === 'system' ? 'critical' : 'warning', detail: 'not granted', remedy: grants }
  })
