import { createServer } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { loadDefinitions } from '../../query/definitions/load.ts'
import { checkRights, checkTls, checkVersion } from './check-connection.ts'
import { doctorRules } from './check-health.ts'
import { computeScore, type Finding } from './finding.ts'
import { inspectTls } from './tls.ts'

const statusesOf = (findings: readonly Finding[]) => findings.map(({ check, status }) => `${check} ${status}`)

describe('the checks of a connection', () => {
  it.each([
    [{ isEncrypted: false, isLocal: true } as const, 'ok'],
    [{ isEncrypted: false, isLocal: false } as const, 'warning'],
    [{ isEncrypted: true, protocol: 'TLSv1.3', isTrusted: true, problem: null, expiresInDays: 90 } as const, 'ok'],
    [{ isEncrypted: true, protocol: 'TLSv1.3', isTrusted: true, problem: null, expiresInDays: 5 } as const, 'warning'],
    [
      {
        isEncrypted: true,
        protocol: 'TLSv1.3',
        isTrusted: false,
        problem: 'CERT_HAS_EXPIRED',
        expiresInDays: -1,
      } as const,
      'critical',
    ],
  ])('rate %j as %s', (tls, status) => {
    expect(checkTls(tls).status).toBe(status)
  })

  it('report unencrypted ports, and ports that do not speak TLS', async () => {
    const { signal } = new AbortController()
    expect(await inspectTls(new URL('http://clickhouse-1:8123'), 0, signal)).toEqual({
      isEncrypted: false,
      isLocal: false,
    })
    expect(await inspectTls(new URL('http://[::1]:8123'), 0, signal)).toEqual({ isEncrypted: false, isLocal: true })
    const server = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    await expect(inspectTls(new URL(`https://127.0.0.1:${port}`), 0, signal)).rejects.toThrow()
    server.close()
  })

  it('warn about versions without statements', () => {
    expect(checkVersion('25.8.1.1').status).toBe('ok')
    expect(checkVersion('22.3.1.1').status).toBe('warning')
  })

  it('name the grant to run for the user of the host', () => {
    const rights = [
      { right: 'system', isGranted: false },
      { right: 'objects', isGranted: false },
      { right: 'access', isGranted: null },
      { right: 'remote', isGranted: true },
      { right: 'kill-query', isGranted: false },
    ] as const
    const findings = checkRights(
      rights,
      { version: '25.8.1.1', readonly: 0 },
      { user: 'watch', database: 'watchhouse' },
    )
    expect(statusesOf(findings)).toEqual([
      'grant system critical',
      'grant objects warning',
      'grant access no data',
      'grant remote ok',
      'grant kill-query ok',
    ])
    expect(findings.map(({ remedy }) => remedy)).toEqual([
      'GRANT SELECT ON system.* TO `watch`;',
      'GRANT SHOW ON *.* TO `watch`;',
      'GRANT SHOW ACCESS ON *.* TO `watch`;',
      null,
      'GRANT KILL QUERY ON *.* TO `watch`;',
    ])
  })
})

it('the score has a limit at both ends', () => {
  const finding = (status: Finding['status']): Finding => ({ check: '', title: '', status, detail: '', remedy: null })
  expect(computeScore([])).toBe(100)
  expect(computeScore([finding('ok'), finding('warning'), finding('critical'), finding('no data')])).toBe(79)
  expect(computeScore(Array.from({ length: 20 }, () => finding('critical')))).toBe(0)
})

it('measures twenty rules that need one measurement', async () => {
  const { rules } = await loadDefinitions(new URL('../../../charts', import.meta.url).pathname)
  const chosen = doctorRules.map((name) => rules.find((rule) => rule.name === name))
  expect(new Set(doctorRules).size).toBe(20)
  for (const rule of chosen) expect(rule).toMatchObject({ measure: 'gauge', sql: expect.anything() })
})
