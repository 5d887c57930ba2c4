import { defineProvider } from '@crosstie/resources/provider'

export const provider = defineProvider({ name: 'aws', summary: '', kinds: [] })
