"""Short Chinese, English and mixed texts for tests of models."""

CHINESE = (
    "我对花生过敏，点菜的时候千万别放花生。",
    "下周三上午十点在三号会议室开评审会。",
    "妈妈的生日是农历八月十五。",
    "服务器的磁盘只剩百分之七了。",
    "他小时候在杭州住过两年。",
    "把闹钟调到早上六点半。",
    "这本书讲的是古代的水利工程。",
    "昨天的会议纪要已经发到群里。",
    "孩子发烧三十八度五，先物理降温。",
    "周末想去郊外露营，得买一顶帐篷。",
    "快递放在了门口的鞋柜上。",
    "我喝咖啡只加牛奶不加糖。",
    "接口返回了四百零三，权限没有开通。",
    "票价是二百八十元，学生半价。",
    "她最近在学吹萨克斯。",
    "水星是离太阳最近的行星。",
)
ENGLISH = (
    "I am allergic to peanuts, so keep them out of my order.",
    "The review is next Wednesday at ten in room three.",
    "My mother's birthday is in the middle of September.",
    "Only seven percent of the disk on the server is left.",
    "He lived in Hangzhou for two years as a boy.",
    "Set the alarm for half past six in the morning.",
    "This book is about waterworks of the ancient world.",
    "The minutes of yesterday's meeting are in the channel.",
    "The child has a fever of thirty-eight and a half.",
    "We want to go camping and have to buy a tent.",
    "The parcel was left on the shelf by the door.",
    "I take my coffee with milk and without sugar.",
    "The call returned four hundred and three, access was never granted.",
    "Tickets cost twenty-eight euros, half for students.",
    "She has started to learn the saxophone.",
    "Mercury is the planet closest to the sun.",
)
MIXED = (
    "明天的 standup 改到下午三点，Zoom 链接不变。",
    "Please remind 王老师 about the 家长会 on Friday.",
    "这个 PR 里有两个 race condition，先别 merge。",
    "订单 A-20931 的 tracking number 是 SF1234567。",
    "I had 火锅 with my team, 特别辣!",
    "Redis 的 TTL 设成 300 秒就好。",
    "他在 Berlin 读 PhD，研究 quantum 计算。",
    "The recipe says 小火 for twenty minutes.",
)
ALL = CHINESE + ENGLISH + MIXED
