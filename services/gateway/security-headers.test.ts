import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { inlineScriptHashes, securityHeaders } from './security-headers.ts'

const hashOf = (code: string) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`
const policyOf = (html: string | undefined, logo: string | null = null): string => {
  const build = { version: '1', gitSha: null, gitRef: null, builtAt: null, client: { CLIENT_LOGO: logo } }
  return new Map(securityHeaders(html, build).page).get('content-security-policy') ?? ''
}

describe('the content security policy of pages', () => {
  it.each([
    ['<script>a()</script>', ['a()']],
    ['<script type="module">\n a()\n</script><SCRIPT>b</SCRIPT>', ['\n a()\n', 'b']],
    ['<script src="/theme.js"></script><script>c</script>', ['c']],
    ['<p>no scripts</p>', []],
  ])('allows exactly the inline scripts of %s', (html, codes) => {
    expect(inlineScriptHashes(html)).toEqual(codes.map(hashOf))
    for (const code of codes) expect(policyOf(html)).toContain(hashOf(code))
  })

  it('lets no other script run', () => {
    const scripts = policyOf('<script>a()</script>')
      .split(';')
      .find((directive) => directive.startsWith('script-src '))
    expect(scripts).toBe(`script-src 'self' ${hashOf('a()')}`)
  })

  it.each([
    ['https://cdn.example.com/logo.svg', 'https://cdn.example.com'],
    ['/logo.svg', undefined],
    ['https://cdn.example.com; script-src *', undefined],
    [null, undefined],
  ])('lets images come from where the logo %s is', (logo, origin) => {
    const images = policyOf('', logo)
      .split(';')
      .find((directive) => directive.startsWith('img-src '))
    expect(images).toBe(["img-src 'self' data:", ...(origin ? [origin] : [])].join(' '))
  })

  it('leaves HSTS and upgrades to whoever ends TLS', () => {
    const names = securityHeaders('', undefined).page.map(([name]) => name)
    expect(names).not.toContain('strict-transport-security')
    expect(policyOf('')).not.toContain('upgrade-insecure-requests')
  })
})
