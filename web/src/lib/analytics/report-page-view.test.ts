import { expect, it } from 'vitest'
import { createPageViewEvent } from './report-page-view.ts'

it('reports the pattern of a page without personal data', () => {
  const opened = { pattern: '/tables/[name]', origin: 'https://watch.example', visitor: 'v' }
  expect(createPageViewEvent('k', opened)).toEqual({
    api_key: 'k',
    event: '$pageview',
    distinct_id: 'v',
    properties: {
      $current_url: 'https://watch.example/tables/[name]',
      $process_person_profile: false,
      $geoip_disable: true,
    },
  })
})
