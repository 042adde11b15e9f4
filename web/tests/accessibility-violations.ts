import axe from 'axe-core'
import type { Visit } from './browser.ts'

/** Returns the violations of WCAG 2.2 AA and of the best practices of axe, each as rule and element. */
export const findAccessibilityViolations = async ({ page }: Visit): Promise<string[]> => {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
    )
  })
}
