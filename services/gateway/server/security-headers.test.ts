import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { computeInlineScriptHashes, createSecurityHeaders } from './security-headers.ts'

const hashOf = (code: string) => `'sha256-${hash('sha256', code, 'base64')}'`
const policyOf = (html: string | undefined, client: Record<string, string | null> = {}): string => {
  const build = { version: '1', gitSha: null, gitRef: null, builtAt: null, client }
  return new Map(createSecurityHeaders(html, build).page).get('content-security-policy') ?? ''
}
const directiveOf = (name: string, policy: string): string | undefined =>
  policy.split(';').find((directive) => directive.startsWith(`${name} `))

describe('the content security policy of pages', () => {
  it.each([
    ['<script>a()</script>', ['a()']],
    ['<script type="module">\n a()\n</script><SCRIPT>b</SCRIPT>', ['\n a()\n', 'b']],
    ['<script src="/theme.js"></script><script>c</script>', ['c']],
    ['<p>no scripts</p>', []],
  ])('allows exactly the inline scripts of %s', (html, codes) => {
    expect(computeInlineScriptHashes(html)).toEqual(codes.map(hashOf))
    for (const code of codes) expect(policyOf(html)).toContain(hashOf(code))
  })

  it('blocks all other scripts', () => {
    const scripts = directiveOf('script-src', policyOf('<script>a()</script>'))
    expect(scripts).toBe(`script-src 'self' ${hashOf('a()')}`)
  })

  it.each([
    ['https://cdn.example.com/logo.svg', 'https://cdn.example.com'],
    ['/logo.svg', undefined],
    ['https://cdn.example.com; script-src *', undefined],
    ['https://cdn.example.com;script-src', undefined],
    [null, undefined],
  ])('allows images from the origin of the logo %s', (logo, origin) => {
    const images = directiveOf('img-src', policyOf('', { CLIENT_LOGO: logo }))
    expect(images).toBe(["img-src 'self' data:", ...(origin ? [origin] : [])].join(' '))
  })

  it.each([
    [
      {
        CLIENT_MEASUREMENT_ID: 'G-1',
        CLIENT_PRODUCT_ANALYTICS_KEY: 'k',
        CLIENT_PRODUCT_ANALYTICS_HOST: 'https://a.example',
      },
      '',
    ],
    [{ CLIENT_MEASUREMENT_ID: null, CLIENT_PRODUCT_ANALYTICS_KEY: null }, ''],
    [{ CLIENT_ANALYTICS_A_ENABLED: 'true', CLIENT_ANALYTICS_B_ENABLED: 'true' }, ''],
    [{ CLIENT_ANALYTICS_B_ENABLED: 'true', CLIENT_PRODUCT_ANALYTICS_HOST: 'https://eu.analytics.example/ingest' }, ''],
    [
      {
        CLIENT_ANALYTICS_B_ENABLED: 'true',
        CLIENT_PRODUCT_ANALYTICS_KEY: 'k',
        CLIENT_PRODUCT_ANALYTICS_HOST: 'https://a.example;script-src',
      },
      '',
    ],
    [
      {
        CLIENT_ANALYTICS_B_ENABLED: 'true',
        CLIENT_PRODUCT_ANALYTICS_KEY: 'k',
        CLIENT_PRODUCT_ANALYTICS_HOST: 'data:text/plain,a',
      },
      '',
    ],
    [
      {
        CLIENT_ANALYTICS_B_ENABLED: 'yes',
        CLIENT_PRODUCT_ANALYTICS_KEY: 'k',
        CLIENT_PRODUCT_ANALYTICS_HOST: 'https://eu.analytics.example/ingest',
      },
      ' https://eu.analytics.example',
    ],
    [
      { CLIENT_ANALYTICS_A_ENABLED: 'true', CLIENT_MEASUREMENT_ID: 'G-1' },
      ' https://*.googletagmanager.com https://*.google-analytics.com https://*.analytics.google.com',
    ],
  ])('allows only the analytics that the build %j configures', (client, origins) => {
    const policy = policyOf('', client)
    // The web UI sends product analytics itself, without a script of the provider.
    const loaded = 'CLIENT_MEASUREMENT_ID' in client ? origins : ''
    expect(directiveOf('script-src', policy)).toBe(`script-src 'self'${loaded}`)
    expect(directiveOf('connect-src', policy)).toBe(`connect-src 'self'${origins}`)
    expect(directiveOf('img-src', policy)).toBe(`img-src 'self' data:${loaded}`)
  })

  it('leaves HSTS and upgrades to the TLS proxy', () => {
    const names = createSecurityHeaders('', undefined).page.map(([name]) => name)
    expect(names).not.toContain('strict-transport-security')
    expect(policyOf('')).not.toContain('upgrade-insecure-requests')
  })
})
