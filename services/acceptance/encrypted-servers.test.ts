// @module-tag long
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startSandbox } from '../sandbox/start.ts'
import { type Authority, createAuthority } from '../testing/certificates.ts'
import { describeWith, startNats, startPostgres, startRedis } from '../testing/describe-with.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { readGuideBlock, readPodCommand } from '../testing/guide-commands.ts'
import { startProduct } from '../testing/product.ts'
import { runProcessToEnd } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const issueCommand = 'openssl req -x509'

describeWith(['nats', 'redis', 'postgres'], 'servers with TLS and a private certificate authority', () => {
  const scope = new AsyncDisposableStack()
  let authority: Authority
  let otherAuthority: Authority
  let addresses: Record<'NATS_URL' | 'REDIS_URL' | 'SVC_STATE_DB_URL', string>

  beforeAll(async () => {
    // The names in the guide are those of the chart; here the servers are on this machine.
    const script = readGuideBlock(issueCommand).replaceAll(/subjectAltName=[^'\s]+/g, 'subjectAltName=DNS:localhost')
    authority = scope.use(await createAuthority(script))
    otherAuthority = scope.use(await createAuthority(script))
    const { certificate, key, certificatePath, keyPath, path } = authority
    const nats = scope.use(
      await startNats({ config: `tls { cert_file: "${certificatePath}", key_file: "${keyPath}" }` }),
    )
    const tlsPort = String(await reserveFreePort())
    const files = { 'tls-cert-file': certificatePath, 'tls-key-file': keyPath, 'tls-ca-cert-file': path }
    scope.use(await startRedis({ settings: { 'tls-port': tlsPort, 'tls-auth-clients': 'no', ...files } }))
    const postgres = scope.use(await startPostgres({ tls: { certificate, key } }))
    addresses = {
      NATS_URL: nats.url.replace('nats://127.0.0.1', 'tls://localhost'),
      REDIS_URL: `rediss://localhost:${tlsPort}`,
      SVC_STATE_DB_URL: `${postgres.url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full`,
    }
  })
  afterAll(() => scope.disposeAsync())

  const check = (variables: Record<string, string>) => {
    const [, , ...parameters] = readPodCommand('check-config --connect')
    return runProcessToEnd({ services: parameters, variables })
  }

  it('are used by every service', async () => {
    await using sandbox = await startSandbox({ seed: false })
    await using product = await startProduct({
      topology: 'nats',
      dispatcher: true,
      toolServer: true,
      hosts: [{ url: sandbox.url, name: 'first' }],
      env: { ...addresses, NODE_EXTRA_CA_CERTS: authority.path },
    })
    for (const path of ['/api/v1/tables/settings?hostId=0&limit=1', '/api/v1/health/alert-state', '/api/v1/reports'])
      expect([path, (await fetchJson(`${product.url}${path}`)).status]).toEqual([path, 200])
    for (const url of product.operationsUrls)
      expect((await fetchJson(`${url}/readyz`)).body).not.toHaveProperty('problems')
    await using client = Object.assign(new Client({ connectionString: addresses.SVC_STATE_DB_URL.split('?')[0] }), {
      [Symbol.asyncDispose]: () => client.end(),
    })
    await client.connect()
    const { rows } = await client.query(
      "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'watchhouse'",
    )
    expect(rows).toEqual([{ ssl: true }])
  })

  it('pass the check of the guide', async () => {
    const { output, code } = await check({ ...addresses, NODE_EXTRA_CA_CERTS: authority.path })
    expect(output.match(/: connected$/gm)).toHaveLength(3)
    expect(code).toBe(0)
  })

  it('are rejected if another authority signed their certificate', async () => {
    const { output, code } = await check({ ...addresses, NODE_EXTRA_CA_CERTS: otherAuthority.path })
    expect(output).not.toContain('connected\n')
    expect(code).toBe(1)
    for (const [variable, url] of Object.entries(addresses)) {
      const only = await check({ [variable]: url, NODE_EXTRA_CA_CERTS: otherAuthority.path })
      expect([variable, only.output]).toEqual([variable, expect.stringMatching(/certificate/i)])
    }
  })

  it('are rejected if NATS has a certificate for another name', async () => {
    const script = readGuideBlock(issueCommand).replaceAll(/subjectAltName=[^'\s]+/g, 'subjectAltName=DNS:example.com')
    await using foreign = await createAuthority(script)
    const { certificatePath, keyPath, path } = foreign
    await using nats = await startNats({ config: `tls { cert_file: "${certificatePath}", key_file: "${keyPath}" }` })
    const url = nats.url.replace('nats://127.0.0.1', 'tls://localhost')
    const { output, code } = await check({ NATS_URL: url, NODE_EXTRA_CA_CERTS: path })
    expect([code, output]).toEqual([1, expect.stringMatching(/altname/i)])
  })

  it('are rejected if the certificate of Redis or PostgreSQL is for another name', async () => {
    const { NATS_URL: _nats, ...others } = addresses
    for (const [variable, url] of Object.entries(others)) {
      const renamed = { [variable]: url.replace('localhost', '127.0.0.1'), NODE_EXTRA_CA_CERTS: authority.path }
      const { output, code } = await check(renamed)
      expect([variable, code, output]).toEqual([variable, 1, expect.stringMatching(/certificate|altname/i)])
    }
  })
})
