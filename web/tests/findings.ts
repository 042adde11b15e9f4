import axe from 'axe-core'
import type { Visit } from './browser.ts'

/** What axe finds against WCAG 2.2 AA and its own best practices, as rule and place. */
export const findings = async ({ page }: Visit): Promise<string[]> => {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
    )
  })
}
