//! Sales of the three channels, what of them was returned, and stock.

use std::fmt::Display;

use chrono::{Datelike, NaiveDate};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::data::{
    CUSTOMERS, Cents, DAYS, DAYS_OF_SALES, Home, ITEMS, Maybe, PAGES, PROMOTIONS, REASONS,
    SHIP_MODES, SITES, WAREHOUSES, date, day_key, day_of, line,
};
use super::words::{HOT_MONTHS, HOT_RETURNS, ITEMS_ASKED_FOR, STORES};

const STORE_TICKETS: usize = 620;
const CATALOG_ORDERS: usize = 260;
const WEB_ORDERS: usize = 190;
/// Items and warehouses whose stock is counted, and the days between two counts.
const ITEMS_COUNTED: usize = 10;
const WAREHOUSES_COUNTED: usize = 2;
const COUNT_DAYS: usize = 7;

pub(super) struct Facts {
    pub(super) random: StdRng,
    pub(super) homes: Vec<Home>,
}

/// Sold together: a ticket of a store, an order of the catalog or of the web.
#[derive(Clone)]
struct Order {
    day: i64,
    time: usize,
    customer: usize,
    home: Home,
    /// The store, the call center or the site.
    place: usize,
    lines: Vec<Line>,
}

#[derive(Clone)]
struct Line {
    item: usize,
    quantity: i64,
    wholesale: i64,
    list: i64,
    price: i64,
    coupon: i64,
    /// In percent.
    tax: i64,
    shipping: i64,
    warehouse: usize,
    promotion: usize,
    returned: Option<Returned>,
}

#[derive(Clone, Copy)]
struct Returned {
    day: i64,
    quantity: i64,
    reason: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Channel {
    Store,
    Catalog,
    Web,
}

impl Line {
    fn sold(&self) -> i64 {
        self.price * self.quantity
    }

    fn paid(&self) -> i64 {
        self.sold() - self.coupon
    }

    fn taxes(&self) -> i64 {
        self.paid() * self.tax / 100
    }

    fn cost(&self) -> i64 {
        self.wholesale * self.quantity
    }
}

impl Facts {
    pub(super) fn tables(&mut self) -> Vec<(&'static str, Vec<String>)> {
        let tickets: Vec<Order> = (0..STORE_TICKETS).map(|_| self.order(STORES.len())).collect();
        let mut orders: Vec<Order> = (0..CATALOG_ORDERS).map(|_| self.order(4)).collect();
        let mut webs: Vec<Order> = (0..WEB_ORDERS).map(|_| self.order(SITES)).collect();
        for ticket in &tickets {
            // Some buy the same on the same day in every channel.
            if self.random.random_bool(0.08) {
                orders.push(self.again(ticket, 4));
                webs.push(self.again(ticket, SITES));
            }
            // Some order from the catalog what they have returned.
            let returned = ticket.lines.iter().find_map(|line| line.returned.map(|to| (line, to)));
            if let Some((line, Returned { day, .. })) = returned
                && self.random.random_bool(0.4)
            {
                let day = (day + self.random.random_range(1..40)).min(DAYS_OF_SALES - 1);
                let lines = vec![Line { returned: None, ..line.clone() }];
                orders.push(Order { day, place: 0, lines, ..ticket.clone() });
            }
        }
        let mut tables = vec![("inventory", self.inventory())];
        for (channel, sales, returns, orders) in [
            (Channel::Store, "store_sales", "store_returns", tickets),
            (Channel::Catalog, "catalog_sales", "catalog_returns", orders),
            (Channel::Web, "web_sales", "web_returns", webs),
        ] {
            let (mut sold, mut returned) = (Vec::new(), Vec::new());
            for (at, order) in orders.iter().enumerate() {
                for line in &order.lines {
                    sold.push(self.sale(channel, at + 1, order, line));
                    if let Some(to) = line.returned {
                        returned.push(self.returned(channel, at + 1, order, line, to));
                    }
                }
            }
            tables.extend([(sales, sold), (returns, returned)]);
        }
        tables
    }

    fn order(&mut self, places: usize) -> Order {
        let day = self.day();
        let customer = self.random.random_range(0..CUSTOMERS);
        let mut home = self.homes[customer];
        let other = *self.homes.choose(&mut self.random).expect("there are customers");
        if self.random.random_bool(0.3) {
            home.address = other.address;
        }
        if self.random.random_bool(0.5) {
            home.demographics = other.demographics;
        }
        let mut lines: Vec<Line> = Vec::new();
        for _ in 0..self.random.random_range(1..=4) {
            let line = self.line(day);
            if lines.iter().all(|other| other.item != line.item) {
                lines.push(line);
            }
        }
        let place = self.random.random_range(0..places);
        Order { day, time: self.random.random_range(24..92), customer, home, place, lines }
    }

    /// The same in another channel.
    fn again(&mut self, order: &Order, places: usize) -> Order {
        let mut order = Order { place: self.random.random_range(0..places), ..order.clone() };
        for line in &mut order.lines {
            line.returned = self.returning(order.day, line.quantity);
            line.warehouse = self.random.random_range(1..=WAREHOUSES);
        }
        order
    }

    fn day(&mut self) -> i64 {
        if self.random.random_bool(0.3) {
            return self.random.random_range(0..DAYS_OF_SALES);
        }
        let (year, month) = *HOT_MONTHS.choose(&mut self.random).expect("months");
        let in_month = if self.random.random_bool(0.3) { 1..=3 } else { 1..=28 };
        day_of((year, month, self.random.random_range(in_month)))
    }

    fn line(&mut self, day: i64) -> Line {
        let items = if self.random.random_bool(0.5) { ITEMS_ASKED_FOR.len() } else { ITEMS };
        let quantity = self.random.random_range(2..=100);
        let wholesale = self.random.random_range(100..=9000);
        let list = wholesale * self.random.random_range(100..=200) / 100;
        let price = (list * self.random.random_range(20..=100) / 100).max(1);
        let coupon = if self.random.random_bool(0.2) { price * quantity / 3 } else { 0 };
        Line {
            item: self.random.random_range(1..=items),
            quantity,
            wholesale,
            list,
            price,
            coupon,
            tax: self.random.random_range(0..10),
            shipping: list * quantity / self.random.random_range(2..20),
            warehouse: self.random.random_range(1..=WAREHOUSES),
            promotion: self.random.random_range(1..=PROMOTIONS),
            returned: self.returning(day, quantity),
        }
    }

    fn returning(&mut self, sold: i64, quantity: i64) -> Option<Returned> {
        if !self.random.random_bool(0.3) {
            return None;
        }
        let days = HOT_RETURNS.iter().map(|day| day_of(*day));
        let hot = days.into_iter().find(|day| *day > sold && *day < sold + 130);
        let day = match hot {
            Some(day) if self.random.random_bool(0.7) => day,
            _ => (sold + self.random.random_range(1..130)).min(DAYS - 1),
        };
        Some(Returned {
            day,
            quantity: self.random.random_range(1..quantity),
            reason: self.random.random_range(1..=REASONS),
        })
    }

    /// A value that is sometimes not known.
    fn maybe<T>(&mut self, value: T) -> Maybe<T> {
        Maybe((!self.random.random_bool(0.03)).then_some(value))
    }

    /// Who bought or returned, in the four columns of every fact.
    fn who(&mut self, order: &Order) -> String {
        let Home { demographics, household, address } = order.home;
        line(&[
            &self.maybe(order.customer + 1),
            &self.maybe(demographics),
            &self.maybe(household),
            &self.maybe(address),
        ])
    }

    /// Somebody else with a chance, such as the receiver of a present.
    fn other(&mut self, order: &Order) -> String {
        if self.random.random_bool(0.8) {
            return self.who(order);
        }
        let customer = self.random.random_range(0..CUSTOMERS);
        let other = Order { customer, home: self.homes[customer], ..order.clone() };
        self.who(&other)
    }

    fn sale(&mut self, channel: Channel, number: usize, order: &Order, sold: &Line) -> String {
        let day = self.maybe(day_key(order.day));
        let time = self.maybe(order.time * 900);
        let who = self.who(order);
        let place = self.maybe(order.place + 1);
        let promotion = self.maybe(sold.promotion);
        let shipped = day_key((order.day + self.random.random_range(2..150)).min(DAYS - 1));
        let shipped = self.maybe(shipped);
        let (receiver, page) = (self.other(order), self.random.random_range(1..=PAGES));
        let mode = self.random.random_range(1..=SHIP_MODES);
        let (mode, page, stock) = (self.maybe(mode), self.maybe(page), self.maybe(sold.warehouse));
        let money = self.money(channel, sold);
        match channel {
            Channel::Store => {
                line(&[&day, &time, &sold.item, &who, &place, &promotion, &number, &money])
            }
            Channel::Catalog => line(&[
                &day, &time, &shipped, &who, &receiver, &place, &page, &mode, &stock, &sold.item,
                &promotion, &number, &money,
            ]),
            Channel::Web => line(&[
                &day, &time, &shipped, &sold.item, &who, &receiver, &page, &place, &mode, &stock,
                &promotion, &number, &money,
            ]),
        }
    }

    /// The measures of a sale.
    fn money(&mut self, channel: Channel, sold: &Line) -> String {
        let quantity = self.maybe(sold.quantity);
        let (paid, taxes) = (sold.paid(), sold.taxes());
        let mut measures = vec![
            sold.wholesale,
            sold.list,
            sold.price,
            (sold.list - sold.price) * sold.quantity,
            sold.sold(),
            sold.cost(),
            sold.list * sold.quantity,
            taxes,
            sold.coupon,
        ];
        match channel {
            Channel::Store => measures.extend([paid, paid + taxes]),
            Channel::Catalog | Channel::Web => {
                let shipping = sold.shipping;
                let both = paid + shipping;
                measures.extend([shipping, paid, paid + taxes, both, both + taxes]);
            }
        }
        measures.push(paid - sold.cost());
        let measures: Vec<Maybe<Cents>> =
            measures.into_iter().map(|cents| self.maybe(Cents(cents))).collect();
        let mut fields: Vec<&dyn Display> = vec![&quantity];
        fields.extend(measures.iter().map(|cents| cents as &dyn Display));
        line(&fields)
    }

    fn returned(
        &mut self,
        channel: Channel,
        number: usize,
        order: &Order,
        sold: &Line,
        to: Returned,
    ) -> String {
        let day = self.maybe(day_key(to.day));
        let hours = self.random.random_range(24..92);
        let time = self.maybe(hours * 900);
        let (who, returning) = (self.who(order), self.other(order));
        let place = self.maybe(order.place + 1);
        let reason = self.maybe(to.reason);
        let amount = sold.price * to.quantity;
        let taxes = amount * sold.tax / 100;
        let fee = self.random.random_range(50..10_000);
        let shipping = sold.shipping * to.quantity / sold.quantity;
        let cash = amount * self.random.random_range(0..=100) / 100;
        let charge = (amount - cash) / 2;
        let measures: Vec<Maybe<Cents>> = [
            amount,
            taxes,
            amount + taxes,
            fee,
            shipping,
            cash,
            charge,
            amount - cash - charge,
            taxes + fee + shipping,
        ]
        .into_iter()
        .map(|cents| self.maybe(Cents(cents)))
        .collect();
        let money: Vec<String> = measures.iter().map(Maybe::to_string).collect();
        let money = format!("{},{}", self.maybe(to.quantity), money.join(","));
        let (page, mode) =
            (self.random.random_range(1..=PAGES), self.random.random_range(1..=SHIP_MODES));
        match channel {
            Channel::Store => {
                line(&[&day, &time, &sold.item, &who, &place, &reason, &number, &money])
            }
            Channel::Catalog => line(&[
                &day,
                &time,
                &sold.item,
                &who,
                &returning,
                &place,
                &page,
                &mode,
                &sold.warehouse,
                &reason,
                &number,
                &money,
            ]),
            Channel::Web => {
                line(&[&day, &time, &sold.item, &who, &returning, &page, &reason, &number, &money])
            }
        }
    }

    /// What lies in the warehouses: mostly little, sometimes much.
    fn inventory(&mut self) -> Vec<String> {
        let mut rows = Vec::new();
        let (from, to) = (day_of((1999, 1, 3)), day_of((2001, 3, 1)));
        for day in (from..to).step_by(COUNT_DAYS) {
            let often = date(day) < NaiveDate::from_ymd_opt(2000, 1, 1).expect("a date");
            if !often && date(day).month() > 7 {
                continue;
            }
            for item in 1..=ITEMS_COUNTED {
                for warehouse in 1..=WAREHOUSES_COUNTED {
                    let much = self.random.random_bool(0.4);
                    let on_hand = self.random.random_range(if much { 100..=500 } else { 0..=20 });
                    let on_hand = self.maybe(on_hand);
                    rows.push(line(&[&day_key(day), &item, &warehouse, &on_hand]));
                }
            }
        }
        rows
    }
}
